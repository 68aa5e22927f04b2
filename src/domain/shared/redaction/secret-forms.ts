import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { unescapeBytes } from './unescaper.ts';
import { withoutSkipped } from './unseen.ts';

/** Shorter values occur too often by chance: replacing them everywhere would reveal more than it hides. */
export const minSecretLength = 4;
/** The maximum length of a text whose twice-escaped forms are generated. */
const maxTwiceEscaped = 4 * 1024;
/** The maximum length of a text that is also found with any number of escapes; longer ones are found only in the generated forms. */
const maxUnescaped = 1024 * 1024;
/** The maximum bytes of a secret whose hexadecimal form with separators is generated. */
const maxSeparatedBytes = 512;

/** Returns every text within a value. All leaves of a secret object are secret. */
export function collectTexts(value: JsonValue): string[] {
  if (value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object' || value instanceof Decimal) return [String(value)];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(collectTexts);
}

/** Returns every text within a value, and the names of all members. */
export function textsAndNames(value: JsonValue): string[] {
  if (value === null || typeof value !== 'object' || value instanceof Decimal) return collectTexts(value);
  if (Array.isArray(value)) return value.flatMap(textsAndNames);
  return Object.entries(value).flatMap(([name, item]) => [name, ...textsAndNames(item)]);
}

/**
 * Returns the byte strings in which a secret may appear in output: plain, line by line, escaped for JSON, HCL, HTML, XML, SQL, Python or a
 * shell, once or twice, URL-encoded, in hexadecimal, and as base64 at each of the three alignments that it may have inside a longer text.
 */
export function secretForms(secret: string): Buffer[] {
  const forms = new Set<string>();
  for (const text of partsOf(secret)) {
    for (const form of [text, ...escapedForms(text), ...hexForms(text), ...base64Forms(text)]) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= minSecretLength).map((form) => Buffer.from(form));
}

/** The secret and each of its lines, without those that are too short. */
function partsOf(secret: string): string[] {
  const lines = secret.split(/\r\n|\n|\r/).map((line) => line.trim());
  return [...new Set([secret, secret.trim(), ...lines])].filter((text) => text.length >= minSecretLength);
}

/** The forms to find in a text whose escapes were removed. Empty if the secret has no character that is ever escaped. */
export function unescapedForms(secret: string): Buffer[] {
  return partsOf(secret)
    .filter((text) => /[^\w .,:;@=+-]/.test(text) && text.length <= maxUnescaped)
    .flatMap((text) => {
      const form = unescapeBytes(Buffer.from(withoutSkipped(Buffer.from(text).toString('latin1')), 'latin1'));
      // A backslash directly before the secret would consume a first letter that can be an escape, such as `n`.
      return /^[nrtbf]/.test(text) && form.length > minSecretLength ? [form, form.subarray(1)] : [form];
    });
}

function escapedForms(text: string): string[] {
  const once = [...jsonForms(text), ...quotedForms(text), ...markupForms(text), ...reprForms(text), ...urlForms(text)];
  if (text.length > maxTwiceEscaped) return once;
  const changed = [...new Set(once)].filter((form) => form !== text);
  return [...once, ...changed.flatMap(escapedAgain)];
}

/** The second escaping of an escaped text: for example, a page shows JSON, or a log quotes the output of a program. */
function escapedAgain(text: string): string[] {
  return [...mainJsonForms(text), ...markupForms(text), ...reprForms(text), strictUrlForm(text)];
}

/** Forms in JSON and HCL. */
function jsonForms(text: string): string[] {
  const json = jsonText(text);
  const hcl = json.replaceAll('${', '$${').replaceAll('%{', '%%{');
  return [...mainJsonForms(text), hcl, json.replaceAll('/', '\\/')];
}

/** Forms in JSON as most libraries, as Go and as Python write it. */
function mainJsonForms(text: string): string[] {
  const json = jsonText(text);
  const goJson = json.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return [json, goJson, json.replace(/[^\0-\x7f]/g, (sign) => `\\u${hexOf(sign.charCodeAt(0), 4)}`)];
}

function hexOf(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/**
 * Forms in which Python and Ruby print a text for programmers: in single or double quotes, with characters outside ASCII as they are, as
 * code points, or as the bytes of UTF-8. `inspect` of Node and `%q` of Go write most texts in one of these ways.
 */
function reprForms(text: string): string[] {
  if (!/[^\x20-\x7e]|['"\\]/.test(text)) return [];
  const escaped = text.replace(/[\\\n\r\t]/g, (sign) => shortEscapes[sign] ?? sign);
  const ascii = escaped.replace(/[^\x20-\x7e]/gu, (sign) => pointEscape(sign.codePointAt(0) ?? 0));
  const control = escaped.replace(/[\0-\x1f\x7f]/g, (sign) => `\\x${hexOf(sign.charCodeAt(0), 2)}`);
  const bytes = escaped.replace(/[^\x20-\x7e]/gu, (sign) =>
    [...Buffer.from(sign)].map((byte) => `\\x${hexOf(byte, 2)}`).join(''),
  );
  const all = [...new Set([ascii, control, bytes])];
  return all.flatMap((form) => [form, form.replaceAll("'", "\\'"), form.replaceAll('"', '\\"')]);
}

const shortEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function pointEscape(code: number): string {
  if (code < 0x100) return `\\x${hexOf(code, 2)}`;
  return code < 0x10000 ? `\\u${hexOf(code, 4)}` : `\\U${hexOf(code, 8)}`;
}

/** Forms in HTML and XML. Libraries differ in which characters they escape, and how. */
function markupForms(text: string): string[] {
  if (!/[&<>"'`/=+]/.test(text)) return [];
  return markupStyles.map((signs) => text.replace(/[&<>"'`/=+]/g, (sign) => signs[sign] ?? sign));
}

const basicSigns = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const markupStyles: readonly Readonly<Record<string, string>>[] = [
  basicSigns,
  { ...basicSigns, '"': '&quot;' },
  ...['&#39;', '&#x27;', '&#039;', '&apos;'].map((apostrophe) => ({ ...basicSigns, '"': '&quot;', "'": apostrophe })),
  { ...basicSigns, '"': '&#34;', "'": '&#39;' },
  { ...basicSigns, '"': '&#34;', "'": '&#39;', '+': '&#43;' },
  { ...basicSigns, '"': '&quot;', "'": '&#39;', '`': '&#96;' },
  { ...basicSigns, '"': '&quot;', "'": '&#x27;', '/': '&#x2F;' },
  { ...basicSigns, '"': '&quot;', "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' },
  { ...basicSigns, '"': '&quot;', "'": '&#x27;', '`': '&#x60;' },
];

function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Forms inside quotes of a shell, YAML and SQL, and the output of bash's `printf %q`. */
function quotedForms(text: string): string[] {
  return [
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll("'", "''"),
    text.replace(/["$`\\]/g, '\\$&'),
    text.replace(/["$`\\!]/g, '\\$&'),
    text.replace(/[^\w@%+=:,./\-\x80-\uffff]/g, '\\$&'),
  ];
}

/**
 * The characters that encoders do not escape besides letters, digits and `-_.`: in a query, a form, a path, a user's password, an address.
 */
const unescaped = ['', "~!'()*", '~', '*', '~$&+=:@', '~$&+,;=', "~;/?:@&=+$,#!'()*"];

function urlForms(text: string): string[] {
  const strict = strictUrlForm(text);
  const forms = unescaped.map((signs) =>
    strict.replace(/%[2-7][0-9A-F]/g, (code) => {
      const sign = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return signs.includes(sign) ? sign : code;
    }),
  );
  const all = [...forms, ...forms.map((form) => form.replaceAll('%20', '+'))];
  return [...all, ...all.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

function strictUrlForm(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[~!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Hexadecimal forms without separators, and with those of `hexdump`, `xxd` and fingerprints. `xxd -p` breaks lines after 60 digits. */
function hexForms(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  const pairs = hex.match(/../g) ?? [];
  const separated = pairs.length <= maxSeparatedBytes ? [pairs.join(' '), pairs.join(':')] : [];
  // A short last line is left out: its few digits occur by chance in every hash.
  const lines = linesOf(hex, 60).filter((line) => line.length >= 2 * minSecretLength);
  const forms = [...lines, ...separated];
  return [...forms, ...forms.map((form) => form.toUpperCase())];
}

/** Encodes with 0, 1 and 2 bytes in front, and drops the characters that depend on neighbouring bytes. */
function base64Forms(text: string): string[] {
  const secret = Buffer.from(text);
  const forms = [0, 1, 2].map((before) => {
    const bits = (before + secret.length) * 8;
    const whole = Buffer.concat([Buffer.alloc(before), secret]).toString('base64');
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
  });
  const padded = secret.toString('base64');
  const [alone = '', ...between] = forms;
  const all = [...linesOf(padded, 76), ...linesOf(padded, 64), ...linesOf(alone, 76), ...between];
  return [...all, ...all.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

/**
 * An encoded text, split into lines as tools break it. In output without line breaks, the matches of these lines follow each other. The end
 * of the text is added as a form, because the last line may be too short to be searched for.
 */
function linesOf(encoded: string, length: number): string[] {
  if (encoded.length <= length) return [encoded];
  const lines = encoded.match(new RegExp(`.{1,${length}}`, 'g')) ?? [];
  return [...lines.filter((line) => line.length >= minSecretLength), encoded.slice(-length)];
}
