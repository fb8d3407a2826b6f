//! Enums whose values have names.

/// Defines an enum with a name for each variant: the list of all values, in order, and the function that returns the name.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $Enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ } $(#[$of_name:meta])+ pub fn name;) => {
        $(#[$meta])*
        pub enum $Enum {
            $($(#[$doc])* $variant),+
        }

        impl $Enum {
            /// Every value, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            $(#[$of_name])+
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
    };
}

pub(crate) use named;
