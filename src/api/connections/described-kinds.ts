import { z } from 'zod';
import { ownerFields } from '#api/pipeline/owned.ts';
import type { CredentialsForm } from '#domain/connections/kinds/kind.ts';
import { connectionKinds, kindOf } from '#domain/connections/kinds/kinds.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName } from '#domain/tenancy/model.ts';

/**
 * The settings of each kind, as the OpenAPI document describes them. `checkSettings` validates requests with the same schemas, and also
 * checks that the credentials match the config.
 */

const titleOf = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** Makes each branch of a config a component, so that client generators give it a name and write it once. */
function withNamedBranches(config: z.ZodType): z.ZodType {
  if (!(config instanceof z.ZodDiscriminatedUnion)) return config;
  const { discriminator } = config.def;
  const [first, ...others] = config.options.map((branch) => {
    const literal = branch instanceof z.ZodObject ? branch.shape[discriminator] : undefined;
    if (!(literal instanceof z.ZodLiteral)) throw new Error(`a branch has no constant ${discriminator}`);
    return (branch as z.ZodObject).meta({ id: `${titleOf(String(literal.value))}ConnectionConfig` });
  });
  if (!first) throw new Error('the config has no branches');
  return z.discriminatedUnion(discriminator, [first, ...others]);
}

const described = connectionKinds.map((kind) => {
  const { summary, config, credentials, forms = [] } = kindOf(kind);
  const title = titleOf(kind);
  return {
    kind,
    summary,
    title,
    config: withNamedBranches(config).meta({ id: `${title}ConnectionConfig` }),
    credentials: credentials.meta({ id: `${title}ConnectionCredentials` }),
    forms,
  };
});

/** Makes a member optional if an empty object is valid for it. */
function leftOutIfEmpty(schema: z.ZodType): z.ZodType {
  return schema.safeParse({}).success ? schema.optional() : schema;
}

/** Describes which credentials a config needs: those of the first form whose condition the config meets. */
function describeForms(forms: readonly CredentialsForm<unknown>[]): object {
  const [form, ...others] = forms;
  if (!form) return {};
  const credentials = form.described ?? form.credentials;
  const isNeeded = !credentials.safeParse({}).success;
  return {
    if: { properties: { config: toJsonSchema(form.when) } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { credentials: toJsonSchema(credentials) }, ...(isNeeded && { required: ['credentials'] }) },
    ...(others.length > 0 && { else: describeForms(others) }),
  };
}

function toJsonSchema(schema: z.ZodType): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    // The component of these credentials already has the default.
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return described;
}

const [first, ...others] = described.map(({ kind, summary, title, config, credentials, forms }) =>
  z
    .strictObject({
      name: ResourceName,
      kind: z.literal(kind).describe(summary),
      ...ownerFields,
      config: leftOutIfEmpty(config),
      credentials: leftOutIfEmpty(credentials),
    })
    .meta({ id: `Create${title}Connection`, ...(forms.length > 0 && { allOf: [describeForms(forms)] }) }),
);
if (!first) throw new Error('there is no kind of connection');

/** A new connection: one form for each kind. */
export const DescribedCreation = z.discriminatedUnion('kind', [first, ...others]).meta({ id: 'CreateConnection' });

const AnyConfig = z
  .union(described.map(({ config }) => config))
  .meta({ id: 'ConnectionConfig', description: 'What readers see, as the kind of the connection has it.' });
const AnyCredentials = z.union(described.map(({ credentials }) => credentials)).meta({
  id: 'ConnectionCredentials',
  description: 'The secret part, as the kind of the connection defines it. It is never shown.',
});

/** The settings in an update. An update cannot change the kind of a connection. */
export const DescribedUpdate = z
  .strictObject({
    name: ResourceName.optional(),
    config: AnyConfig.optional(),
    credentials: AnyCredentials.optional(),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateConnection', dependentRequired: { config: ['credentials'] } });

export const DescribedRotation = z
  .strictObject({ credentials: AnyCredentials, ...ExpectedRevision })
  .meta({ id: 'RotateConnection' });
