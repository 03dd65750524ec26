// How the codes of columns are laid out; Python takes these numbers from the module.
#pragma once

namespace gtgbm {

constexpr int kCells = 256;        // codes of one column: up to 255 value bins, and
constexpr int kMissingCell = 255;  // the missing values
constexpr int kLanes = 8;          // columns interleaved in one tile

}  // namespace gtgbm
