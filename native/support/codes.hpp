// Layout of the codes of columns; Python reads these constants from the module.
#pragma once

namespace gtgbm {

constexpr int kCells = 256;        // codes of one column: up to 255 bins of values, and
constexpr int kMissingCell = 255;  // one code for missing values
constexpr int kLanes = 8;          // columns interleaved in one tile

}  // namespace gtgbm
