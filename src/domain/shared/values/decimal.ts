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
 * A number of JSON that a JavaScript number would change, such as 9007199254740993 or 1e400. Its text is in one form alone, so that
 * equal decimals have equal texts, and deep comparisons see them as equal. `JSON.stringify` writes it as a number with all its digits. It cannot
 * be sent to a thread.
 */
export class Decimal {
  readonly text: string;
  /** A member of its own, so that `structuredClone` refuses a decimal instead of losing its class. */
  readonly toJSON = toRawJson;

  private constructor(text: string) {
    this.text = text;
  }

  /** The number that a literal of JSON stands for: a JavaScript number where that keeps its value, else a decimal. There is no -0. */
  static read(literal: string): number | Decimal {
    const value = Number(literal);
    if (value === 0 && isZero(literal)) return 0;
    const text = normalForm(literal);
    // A JavaScript number is written with as few digits as tell it from others, which may not be all that the literal has.
    return Number.isFinite(value) && normalForm(String(value)) === text ? value : new Decimal(text);
  }

  /** How many digits PostgreSQL writes, which knows no exponent. */
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

/** Whether a JavaScript number has the value of a literal of JSON to the last digit. */
export function keepsDigits(literal: string): boolean {
  return typeof Decimal.read(literal) === 'number';
}

function toRawJson(this: Decimal): RawJson {
  return JSON.rawJSON(this.text);
}

/** No tool writes larger exponents, and nothing stores one near to it. */
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

/** The form of a number in which equal numbers are equal texts. */
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
