type Json = null | boolean | number | string | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };

/** The viewer's request for one operation when somebody opens it: a part of the document, by its path, with references resolved. */
type Resolve = (document: Json, path: readonly string[]) => Promise<{ spec: Json; errors: readonly never[] }>;

/** The arguments that the viewer passes to a function that wraps one of its actions. */
interface ViewerSystem {
  readonly specActions: { updateJsonSpec(document: JsonObject): unknown };
}

/**
 * A plugin of the viewer that first loads an outline of the document, and each operation when somebody opens it. The viewer itself parses
 * the document as YAML, copies it into its own lists, and reads all of it again for each part that is opened, which takes a browser many
 * seconds. This document is JSON and does not refer to others. Recursive references stay references. The browser gets the source text of
 * this function, so it must not refer to anything outside itself.
 */
export function readOnDemand() {
  const outlined = ['operationId', 'tags', 'summary', 'description', 'deprecated', 'security'];
  let whole: JsonObject = {};

  const isObject = (value: Json | undefined): value is JsonObject =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const mapMembers = (value: Json | undefined, map: (member: Json) => Json): Json =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each)]))
      : (value ?? {});
  const outline = (operation: Json): Json =>
    isObject(operation)
      ? Object.fromEntries(Object.entries(operation).filter(([name]) => outlined.includes(name)))
      : operation;
  const outlineAll = (items: Json | undefined) => mapMembers(items, (item) => mapMembers(item, outline));

  // "Try it out" sends no cookie, so the dialog has no box for one. The document that programs read keeps the scheme.
  const typeable = (schemes: Json | undefined): JsonObject =>
    Object.fromEntries(
      Object.entries(isObject(schemes) ? schemes : {}).filter(
        ([, scheme]) => isObject(scheme) && scheme['in'] !== 'cookie',
      ),
    );

  const parseToJson =
    (parse: (text: string) => unknown, { specActions }: ViewerSystem) =>
    (text: string) => {
      if (!text) return parse(text);
      const document: JsonObject = JSON.parse(text);
      const components = document['components'] as JsonObject;
      const securitySchemes = typeable(components['securitySchemes']);
      whole = { ...document, components: { ...components, securitySchemes } };
      const [paths, webhooks] = [outlineAll(whole['paths']), outlineAll(whole['webhooks'])];
      return specActions.updateJsonSpec({ ...whole, paths, webhooks, components: { securitySchemes } });
    };

  const step = (value: Json, name: string): Json => (value as JsonObject | null)?.[name] ?? null;
  const readName = (name: string) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
  const find = (reference: string) => reference.slice(2).split('/').map(readName).reduce(step, whole);
  const resolve = (value: Json, within: readonly string[]): Json => {
    if (Array.isArray(value)) return value.map((each) => resolve(each, within));
    if (!isObject(value)) return value;
    const { $ref: reference, ...beside } = value;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) {
      return mapMembers(value, (each) => resolve(each, within));
    }
    if (within.includes(reference)) return value;
    const target = resolve(find(reference), [...within, reference]);
    return isObject(target) ? { ...target, ...beside } : target;
  };
  const resolveSubtree: Resolve = async (_, path) => ({ spec: resolve(path.reduce(step, whole), []), errors: [] });

  return { fn: { resolveSubtree }, statePlugins: { spec: { wrapActions: { parseToJson } } } };
}
