import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** Shorter values occur too often by chance: replacing them everywhere would reveal more than it hides. */
const minSecretLength = 4;
/** Longer secrets, in bytes, are not written as one line of separated hexadecimal digits. */
const longestSeparated = 512;

/** Returns every text within a value. All leaves of a secret object are secret. */
export function collectTexts(value: JsonValue): string[] {
  if (value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object' || value instanceof Decimal) return [String(value)];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(collectTexts);
}

/**
 * Returns the byte strings in which a secret may appear in output: plain, line by line, escaped for JSON, HCL, XML, SQL or a
 * shell, URL-encoded, in hexadecimal, and as base64 at each of the three alignments that it may have inside a longer text.
 */
export function secretForms(secret: string): Buffer[] {
  const lines = secret.split(/\r\n|\n|\r/).map((line) => line.trim());
  const forms = new Set<string>();
  for (const text of new Set([secret, secret.trim(), ...lines])) {
    if (text.length < minSecretLength) continue;
    for (const form of [text, ...escapedForms(text), ...hexForms(text), ...base64Forms(text)]) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= minSecretLength).map((form) => Buffer.from(form));
}

function escapedForms(text: string): string[] {
  return [...jsonForms(text), ...quotedForms(text), ...urlForms(text)];
}

/** JSON and HCL, also inside a JSON text that is itself a string of JSON. */
function jsonForms(text: string): string[] {
  const json = jsonText(text);
  const goJson = json.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const asciiJson = json.replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const hcl = json.replaceAll('${', '$${').replaceAll('%{', '%%{');
  return [json, goJson, asciiJson, hcl, jsonText(json), jsonText(goJson), jsonText(hcl), json.replaceAll('/', '\\/')];
}

function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As the inside of quotes in a shell, YAML, SQL and XML, and as bash's `printf %q` writes it. */
function quotedForms(text: string): string[] {
  const xml = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll("'", "''"),
    text.replace(/["$`\\]/g, '\\$&'),
    text.replace(/["$`\\!]/g, '\\$&'),
    text.replace(/[^\w@%+=:,./\-\x80-\uffff]/g, '\\$&'),
    xml,
    xml.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    xml.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
    xml.replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
  ];
}

/** What encoders leave as it is besides letters, digits and `-_.`: in a query, a form, a path, a user's password, an address. */
const unescaped = ['', "~!'()*", '~', '*', '~$&+=:@', '~$&+,;=', "~;/?:@&=+$,#!'()*"];

function urlForms(text: string): string[] {
  const strict = encodeURIComponent(text.toWellFormed()).replace(
    /[~!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const forms = unescaped.map((signs) =>
    strict.replace(/%[2-7][0-9A-F]/g, (code) => {
      const sign = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return signs.includes(sign) ? sign : code;
    }),
  );
  const all = [...forms, ...forms.map((form) => form.replaceAll('%20', '+'))];
  return [...all, ...all.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** Without separators, and with those of `hexdump`, `xxd` and fingerprints. `xxd -p` breaks lines after 60 digits. */
function hexForms(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  const pairs = hex.match(/../g) ?? [];
  const separated = pairs.length <= longestSeparated ? [pairs.join(' '), pairs.join(':')] : [];
  // The rest of the last line may be a few digits, which occur by chance in every hash.
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
 * An encoded text, in the lines into which tools break it. In a text without line breaks they are found one after another; the
 * end of the text makes up for a last line that is too short to be searched for.
 */
function linesOf(encoded: string, length: number): string[] {
  if (encoded.length <= length) return [encoded];
  const lines = encoded.match(new RegExp(`.{1,${length}}`, 'g')) ?? [];
  return [...lines.filter((line) => line.length >= minSecretLength), encoded.slice(-length)];
}
