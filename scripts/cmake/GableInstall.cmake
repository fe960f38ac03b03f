# SPDX-License-Identifier: Apache-2.0
# What an installation holds, in the layout of a build folder: the program finds the rest beside itself.
if(GABLE_INJECT)
  install(TARGETS gable_inject gable_kokkos LIBRARY DESTINATION lib COMPONENT program)
  install(FILES inject/gable.h DESTINATION include COMPONENT program)
  install(DIRECTORY inject/python/ DESTINATION lib/python COMPONENT program FILES_MATCHING PATTERN "*.py")
  install(TARGETS gable_playback_cuda gable_playback_cupti gable_playback_libnvperf_host gable_playback_libnvperf_target
    gable_playback_nvml gable-player
    LIBRARY DESTINATION lib/playback COMPONENT program RUNTIME DESTINATION lib/playback COMPONENT program)
endif()
install(TARGETS gable RUNTIME DESTINATION bin COMPONENT program)
install(DIRECTORY tools/fleet/ DESTINATION lib/python/gable_fleet COMPONENT program FILES_MATCHING PATTERN "*.py")
