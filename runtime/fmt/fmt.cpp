// fmt, compiled once. As it is in its headers alone, every unit that formats
// one number compiles all of it; as Debian's shared library, programs demand it
// where they run.
#include <fmt/format-inl.h>

// The templates that fmt's headers declare without a definition, for the only
// characters that mtc writes.
template fmt::detail::thousands_sep_result<char>
    fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template fmt::detail::dragonbox::decimal_fp<float>
fmt::detail::dragonbox::to_decimal<float>(float) noexcept;
template fmt::detail::dragonbox::decimal_fp<double>
fmt::detail::dragonbox::to_decimal<double>(double) noexcept;
