# SPDX-License-Identifier: Apache-2.0
# Packages that Debian has; nothing is downloaded while configuring.
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Threads REQUIRED)
