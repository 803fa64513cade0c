//! Amounts: integers in the minor units of one currency, never floating point.

/// The largest amount of an order, in minor units; far inside what JavaScript counts exactly (2^53).
pub const MAX_AMOUNT: i64 = 1_000_000_000_000;

/// An amount in the minor units of an ISO 4217 currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    pub minor: i64,
    pub currency: String,
}

/// Why prices do not add up to an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TotalError {
    TooLarge,
    MixedCurrencies,
    Nothing,
}

/// The sum of `quantity × price`, all in one currency and at most [`MAX_AMOUNT`].
pub fn total<'a>(lines: impl Iterator<Item = (i64, i64, &'a str)>) -> Result<Money, TotalError> {
    let mut sum: Option<Money> = None;
    for (quantity, price, currency) in lines {
        let line = quantity.checked_mul(price).ok_or(TotalError::TooLarge)?;
        let money = sum.get_or_insert_with(|| Money {
            minor: 0,
            currency: currency.to_owned(),
        });
        if money.currency != currency {
            return Err(TotalError::MixedCurrencies);
        }
        money.minor = money.minor.checked_add(line).ok_or(TotalError::TooLarge)?;
    }
    let sum = sum.ok_or(TotalError::Nothing)?;
    if sum.minor > MAX_AMOUNT {
        Err(TotalError::TooLarge)
    } else {
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_up_in_minor_units() {
        let sum = total([(2, 333, "CNY"), (1, 334, "CNY")].into_iter());

        assert_eq!(
            sum,
            Ok(Money {
                minor: 1_000,
                currency: "CNY".to_owned()
            })
        );
    }

    #[test]
    fn an_overflow_is_an_answer() {
        let product = total([(i64::MAX, 2, "CNY")].into_iter());
        let sum = total([(1, i64::MAX, "CNY"), (1, 1, "CNY")].into_iter());
        let large = total([(1, MAX_AMOUNT + 1, "CNY")].into_iter());

        assert_eq!(
            [product, sum, large],
            [const { Err(TotalError::TooLarge) }; 3]
        );
    }

    #[test]
    fn two_currencies_have_no_sum() {
        let sum = total([(1, 1, "CNY"), (1, 1, "EUR")].into_iter());

        assert_eq!(sum, Err(TotalError::MixedCurrencies));
    }
}
