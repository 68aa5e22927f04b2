import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';

/** A reference of a variable to an output of an instance. */
export interface InstanceReference {
  /** The text of the reference. */
  readonly text: string;
  /** Slugs. The project is null if the reference means the run's own project. */
  readonly project: string | null;
  readonly environment: string;
  readonly instance: string;
  readonly output: string;
}

/** A text that begins like a reference but is not one. */
export interface MalformedReference {
  readonly text: string;
  readonly problem: string;
}

const whole = /^(\$+)\{instances\.([\s\S]*)\}$/;
const form = /^(?:([^/.{}$\s]+)\/)?([^/.{}$\s]+)\/([^/{}$\s]+?)\.outputs\.([^{}$\s]+)$/;
/** Longer than any reference. Longer texts are not matched, because that could take long. */
const maxLength = 1000;
const malformed =
  'is no reference: write ${instances.<environment>/<name>.outputs.<output>}, or <project>/<environment>/<name> for another project';

/**
 * Parses a text of a variable: a reference, a malformed one, or null for any other text. A reference must be the whole text. A text that
 * begins with `$${` stands for the text without the first `$`.
 */
export function readReference(
  text: string,
): InstanceReference | MalformedReference | { readonly escaped: string } | null {
  const [, dollars = '', inside = ''] = whole.exec(text) ?? [];
  if (dollars === '') return null;
  if (dollars.length > 1) return { escaped: text.slice(1) };
  const parts = inside.length > maxLength ? null : form.exec(inside);
  const [, project = null, environment, instance, output] = parts ?? [];
  if (environment === undefined || instance === undefined || output === undefined) return { text, problem: malformed };
  return { text, project, environment, instance, output };
}

/** Escapes a text so that resolving references returns it unchanged. */
export function escapeReference(text: string): string {
  return whole.test(text) ? `$${text}` : text;
}

/** A place in the value of a variable: a JSON pointer, empty for the value itself. */
export interface LocatedText {
  readonly pointer: string;
  readonly text: string;
}

/** Returns a copy of a value with its texts replaced, but not the names of members. */
export function replaceTexts(value: JsonValue, replace: (located: LocatedText) => JsonValue, pointer = ''): JsonValue {
  if (typeof value === 'string') return replace({ pointer, text: value });
  if (Array.isArray(value)) return value.map((each, index) => replaceTexts(each, replace, `${pointer}/${index}`));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      replaceTexts(member, replace, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ]),
  );
}

/** The first text in a value that begins like a reference but is not one; undefined if there is none. */
export function findMalformedReference(value: JsonValue): (LocatedText & MalformedReference) | undefined {
  const found: (LocatedText & MalformedReference)[] = [];
  replaceTexts(value, (located) => {
    const read = readReference(located.text);
    if (read && 'problem' in read) found.push({ ...located, ...read });
    return located.text;
  });
  return found[0];
}

/** Whether a value contains a reference, or a text that begins like one. */
export function hasReferences(value: JsonValue): boolean {
  let isFound = false;
  replaceTexts(value, ({ text }) => {
    const read = readReference(text);
    isFound ||= read !== null && !('escaped' in read);
    return text;
  });
  return isFound;
}
