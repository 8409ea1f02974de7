# The installed tree: bin/ with the programs, include/meshplan/ with the headers to read an artifact, and
# share/meshplan/examples/.
#
# The tree may be moved: programs find this project's libraries relative to themselves. LibTorch is not copied (it is
# several gigabytes); meshplan-run keeps the absolute path of the Python environment that it was built with.
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/meshplan/runtime/schema)
install(FILES runtime/schema/extent.h runtime/schema/mesh_axes.h runtime/schema/schedule.fbs
              ${CMAKE_BINARY_DIR}/generated/runtime/schema/schedule_generated.h
        DESTINATION ${include_dir})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/meshplan OPTIONAL
        PATTERN "*.sched" EXCLUDE PATTERN "*.pt2" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/meshplan)
