/** A form that a page shows, as a browser reads it. */
export interface ShownForm {
  readonly action: string;
  readonly fields: readonly ShownField[];
}

export interface ShownField {
  readonly name: string;
  readonly kind: string;
  /** What a browser sends if nobody changes it; null: nothing. */
  readonly value: string | null;
  /** What a select offers. */
  readonly choices: readonly string[];
}

/** The forms of a page that are sent by POST, without the button to sign out that every page has. */
export function findForms(page: string): ShownForm[] {
  return [...page.matchAll(/<form[^>]*method="post"[^>]*>([\s\S]*?)<\/form>/g)].flatMap(([tag, body = '']) => {
    const action = attribute(tag, 'action') ?? '';
    return action === '/logout' || tag.includes('multipart/form-data') ? [] : [{ action, fields: findFields(body) }];
  });
}

function findFields(form: string): ShownField[] {
  const controls = form.matchAll(/<(input|textarea|select)([^>]*)>(?:([\s\S]*?)<\/\1>)?/g);
  const fields = [...controls].flatMap(([, tag = '', attributes = '', content = '']): ShownField[] => {
    const name = attribute(attributes, 'name');
    return name === null ? [] : [{ name, ...describeControl(tag, attributes, content) }];
  });
  const isSent = ({ name, kind, value }: ShownField) =>
    kind !== 'radio' || value !== null || !fields.some((each) => each.name === name && each.value !== null);
  return fields.filter(isSent);
}

function describeControl(tag: string, attributes: string, content: string): Omit<ShownField, 'name'> {
  if (tag === 'textarea') return { kind: 'area', value: decode(content).replace(/^\n/, ''), choices: [] };
  if (tag === 'select') {
    const options = [...content.matchAll(/<option([^>]*)>/g)].map(([, option = '']) => option);
    const choices = options.map((option) => attribute(option, 'value') ?? '');
    const chosen = options.findIndex((option) => /\bselected\b/.test(option));
    return { kind: 'select', value: choices[Math.max(0, chosen)] ?? '', choices };
  }
  const kind = attribute(attributes, 'type') ?? 'text';
  const value = attribute(attributes, 'value') ?? '';
  const isOff = ['checkbox', 'radio'].includes(kind) && !/\bchecked\b/.test(attributes);
  return { kind, value: isOff ? null : value, choices: [] };
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : decode(value);
}

function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
