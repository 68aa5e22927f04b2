import type { JsonValue } from '#domain/runs/model.ts';

/** Shorter values are too common to be taken for a secret: `[redacted]` everywhere would tell more than it hides. */
export const shortestSecret = 4;

/** Every text within a value: a secret object is secret in each of its leaves. */
export function collectTexts(value: JsonValue): string[] {
  if (value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object') return [String(value)];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(collectTexts);
}

/**
 * The byte strings in which a secret may turn up in output: as it is, line by line, escaped as JSON or for a shell,
 * URL-encoded, and in base64 at each of the three alignments that it may have inside a longer text.
 */
export function secretForms(secret: string): Buffer[] {
  const lines = secret.split(/\r\n|\n|\r/).map((line) => line.trim());
  const forms = new Set<string>();
  for (const text of new Set([secret, secret.trim(), ...lines])) {
    if (text.length < shortestSecret) continue;
    for (const form of [text, ...escapedForms(text), ...base64Forms(text)]) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= shortestSecret).map((form) => Buffer.from(form));
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

/** With 0, 1 and 2 bytes before it, less the characters that its neighbours have a part in. */
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
