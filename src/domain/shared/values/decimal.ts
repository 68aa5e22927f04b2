/** What `JSON.rawJSON` makes: `JSON.stringify` writes it as it is. */
interface RawJson {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/**
 * A number of JSON that a JavaScript number would change, such as 9007199254740993 or 1e400. Its text has a normal form, so that equal
 * decimals have equal texts, and are equal in deep comparisons. `JSON.stringify` writes it as a number with all its digits. It cannot be
 * sent to a thread.
 */
export class Decimal {
  readonly text: string;
  /** An own property, so that `structuredClone` refuses a decimal instead of losing its class. */
  readonly toJSON = toRawJson;

  private constructor(text: string) {
    this.text = text;
  }

  /** Reads a number literal of JSON: a JavaScript number if that keeps its value, else a decimal. -0 becomes 0. */
  static read(literal: string): number | Decimal {
    const value = Number(literal);
    if (value === 0 && isZero(literal)) return 0;
    const text = normalForm(literal);
    // JavaScript writes a number with the fewest digits that identify it, which may be fewer than those of the literal.
    return Number.isFinite(value) && normalForm(String(value)) === text ? value : new Decimal(text);
  }

  /** How many digits PostgreSQL writes for the number, since it writes no exponents. */
  get writtenDigits(): number {
    const { digits, point } = partsOf(this.text);
    return Math.max(digits.length, point, digits.length - point);
  }

  get isInteger(): boolean {
    const { digits, point } = partsOf(this.text);
    return digits.length <= point;
  }

  toString(): string {
    return this.text;
  }
}

/** Whether a JavaScript number keeps every digit of a number literal of JSON. */
export function keepsDigits(literal: string): boolean {
  return typeof Decimal.read(literal) === 'number';
}

function toRawJson(this: Decimal): RawJson {
  return JSON.rawJSON(this.text);
}

/** The largest exponent. No tool writes a larger one. */
const maxExponent = 1e15;
/** Numbers with more digits before the point are written with an exponent. */
const maxPlainDigits = 100;

/** A number is 0.<digits> × 10^point. The digits neither begin nor end with a zero. */
interface Parts {
  readonly sign: string;
  readonly digits: string;
  readonly point: number;
}

function isZero(literal: string): boolean {
  return /^-?0+(?:\.0+)?(?:e|$)/i.test(literal);
}

function partsOf(literal: string): Parts {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  let end = all.length;
  while (all[end - 1] === '0') end -= 1;
  const power = Math.max(-maxExponent, Math.min(maxExponent, Number(exponent)));
  return { sign, digits: all.slice(first, end), point: whole.length - first + power };
}

/** The normal form of a number: equal numbers have equal texts. */
function normalForm(literal: string): string {
  const { sign, digits, point } = partsOf(literal);
  const { length } = digits;
  if (point > 0 && point <= maxPlainDigits) {
    const whole = digits.slice(0, point).padEnd(point, '0');
    return `${sign}${whole}${length > point ? `.${digits.slice(point)}` : ''}`;
  }
  if (point > -6 && point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  const fraction = length > 1 ? `.${digits.slice(1)}` : '';
  const power = point - 1;
  return `${sign}${digits[0]}${fraction}e${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}
