/** The names of the fields in a page that ask to choose one of a single choice. */
export function listOpenChoices(html: string): string[] {
  return [...html.matchAll(/<form[\s\S]*?<\/form>/g)].flatMap(([form]) => [...openSelects(form), ...openRadios(form)]);
}

function openSelects(form: string): string[] {
  return [...form.matchAll(/<select([^>]*)>([\s\S]*?)<\/select>/g)].flatMap(([, attributes = '', content = '']) => {
    const options = content.match(/<option/g) ?? [];
    return content.includes('>Choose…<') && options.length === 2 ? [nameIn(attributes)] : [];
  });
}

function openRadios(form: string): string[] {
  const groups = new Map<string, string[]>();
  for (const [radio] of form.matchAll(/<input type="radio"[^>]*>/g))
    groups.set(nameIn(radio), [...(groups.get(nameIn(radio)) ?? []), radio]);
  return [...groups].flatMap(([name, [only = '', ...others]]) =>
    others.length === 0 && !/\schecked/.test(only) ? [name] : [],
  );
}

function nameIn(attributes: string): string {
  return /name="([^"]*)"/.exec(attributes)?.[1] ?? '';
}
