import type { JsonValue } from '#domain/shared/json.ts';

/** Shorter values occur too often by chance: replacing them everywhere would reveal more than it hides. */
const minSecretLength = 4;

/** Returns every text within a value. All leaves of a secret object are secret. */
export function collectTexts(value: JsonValue): string[] {
  if (value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object') return [String(value)];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(collectTexts);
}

/**
 * Returns the byte strings in which a secret may appear in output: plain, line by line, escaped for JSON, HCL or a shell,
 * URL-encoded, and as base64 at each of the three alignments that it may have inside a longer text.
 */
export function secretForms(secret: string): Buffer[] {
  const lines = secret.split(/\r\n|\n|\r/).map((line) => line.trim());
  const forms = new Set<string>();
  for (const text of new Set([secret, secret.trim(), ...lines])) {
    if (text.length < minSecretLength) continue;
    for (const form of [text, ...escapedForms(text), ...base64Forms(text)]) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= minSecretLength).map((form) => Buffer.from(form));
}

function escapedForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const goJson = json.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const asciiJson = json.replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const hcl = json.replaceAll('${', '$${').replaceAll('%{', '%%{');
  const shell = text.replaceAll("'", "'\\''");
  return [json, goJson, asciiJson, hcl, shell, ...urlForms(text)];
}

function urlForms(text: string): string[] {
  const url = encodeURIComponent(text.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [url, strict, url.replaceAll('%20', '+'), strict.replaceAll('%20', '+')];
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** Encodes with 0, 1 and 2 bytes in front, and drops the characters that depend on neighbouring bytes. */
function base64Forms(text: string): string[] {
  const secret = Buffer.from(text);
  const forms = [0, 1, 2].map((before) => {
    const bits = (before + secret.length) * 8;
    const whole = Buffer.concat([Buffer.alloc(before), secret]).toString('base64');
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
  });
  const padded = [secret.toString('base64'), ...forms];
  return [...padded, ...padded.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}
