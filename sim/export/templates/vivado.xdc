# Timing constraints for Vivado: a template. {{ clock }} MHz is the clock of the configuration; take the board's own.
create_clock -name {{ port }} -period {{ period }} [get_ports {{ port }}]

# On a board the ports lead to other logic of the same clock, and need nothing more. To implement the engine alone, give
# that logic's share of the period:
# set_input_delay  -clock {{ port }} [expr 0.4 * {{ period }}] [get_ports -filter {DIRECTION == IN && NAME != {{ port }}}]
# set_output_delay -clock {{ port }} [expr 0.4 * {{ period }}] [get_ports -filter {DIRECTION == OUT}]
