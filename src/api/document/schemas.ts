import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { publishedOf } from '#api/pipeline/published.ts';

type SchemaObject = OpenAPIV3_1.SchemaObject;
type Reference = OpenAPIV3_1.ReferenceObject;
type Schema = SchemaObject | Reference;

const definitions = '#/$defs/';
const components = '#/components/schemas/';

/**
 * The JSON Schemas of one document. A zod schema with an `id` in its metadata becomes a component with that name. Every other
 * schema is written where it is used.
 */
export class DocumentSchemas {
  readonly components: Record<string, SchemaObject> = {};
  /** The components as text. Most are met many times, and are compared as text. */
  readonly #texts = new Map<string, string>();
  /** What was described, as text: operations share schemas. */
  readonly #described = new Map<z.ZodType, string>();

  /** Describes the encoded form of values: what a client sends, or reads in an answer. */
  describe(schema: z.ZodType): Schema {
    const text = this.#described.get(schema) ?? this.#convert(schema);
    this.#described.set(schema, text);
    return JSON.parse(text);
  }

  #convert(schema: z.ZodType): string {
    const wrapper = z.object({ root: publishedOf(schema) });
    const { properties, $defs } = z.toJSONSchema(wrapper, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        simplify(jsonSchema);
        if (zodSchema instanceof z.ZodDiscriminatedUnion) nameDiscriminator(jsonSchema, zodSchema);
        if (zodSchema === wrapper) return;
        for (const property of Object.values(jsonSchema.properties ?? {})) describeDefault(property);
      },
    }) as unknown as { properties: { root: Schema }; $defs?: Record<string, SchemaObject> };
    for (const [name, definition] of Object.entries($defs ?? {})) this.#add(name, toText(definition));
    return toText(properties.root);
  }

  #add(name: string, text: string): void {
    const known = this.#texts.get(name);
    if (known === text) return;
    if (known !== undefined) {
      throw new Error(`two schemas of the document are called ${name}: give one of them another id`);
    }
    this.#texts.set(name, text);
    this.components[name] = JSON.parse(text);
  }
}

/** Drops what zod adds and no client can use: patterns of known formats, and the bounds of JavaScript's integers. */
function simplify(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.const !== undefined && jsonSchema.type === undefined) jsonSchema.type = typeOf(jsonSchema.const);
  delete jsonSchema.id;
  const { example } = jsonSchema;
  if (example === undefined) return;
  delete jsonSchema['example'];
  jsonSchema.examples = [example];
}

/**
 * Moves the default of a member into its description. Client generators assume that a member with a `default` is always present, and would
 * require it in requests.
 */
function describeDefault(property: z.core.JSONSchema._JSONSchema): void {
  if (typeof property === 'boolean' || property.default === undefined) return;
  const { default: value, description = '' } = property;
  delete property.default;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (!isEmpty && value !== '') property.description = `${description} Default: \`${JSON.stringify(value)}\`.`.trim();
}

function typeOf(value: unknown): 'string' | 'number' | 'boolean' | 'null' {
  if (value === null) return 'null';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string';
}

/** Says which member tells the branches apart, and which branch each value selects. Only branches that are components can be named. */
function nameDiscriminator(jsonSchema: z.core.JSONSchema.BaseSchema, { def, options }: z.ZodDiscriminatedUnion): void {
  const { discriminator: propertyName } = def;
  const mapping: Record<string, string> = {};
  for (const [index, option] of options.entries()) {
    const reference = jsonSchema.oneOf?.[index]?.$ref;
    const value = option instanceof z.ZodObject ? option.shape[propertyName] : undefined;
    if (reference === undefined || !(value instanceof z.ZodLiteral)) return;
    mapping[String(value.value)] = reference.replace(definitions, components);
  }
  jsonSchema['discriminator'] = { propertyName, mapping };
}

/** Writes a schema. Its references point to the document's components. */
function toText(schema: Schema): string {
  return JSON.stringify(schema).replaceAll(`"$ref":"${definitions}`, `"$ref":"${components}`);
}
