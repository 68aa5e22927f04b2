import { z } from 'zod';
import { namesOneOwner, ownerFields } from '#api/pipeline/owned.ts';
import { connectionKinds } from '#domain/connections/kinds/kinds.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName } from '#domain/tenancy/model.ts';

/** The bodies of requests for connections. The kind decides what config and credentials hold, and its own schemas check them. */

const Settings = z.record(z.string(), z.unknown());
const Config = Settings.describe(
  'What readers see, such as the host. Its fields depend on the kind (docs/connections.md).',
);
const Credentials = Settings.describe(
  'What nobody is ever shown. Its fields depend on the kind (docs/connections.md).',
);

export const CreateConnection = z
  .strictObject({
    name: ResourceName,
    kind: z.enum(connectionKinds),
    ...ownerFields,
    config: Config.default({}),
    credentials: Credentials.default({}),
  })
  .check(namesOneOwner)
  .meta({ id: 'CreateConnection' });

export const UpdateConnection = z
  .strictObject({
    name: ResourceName.optional(),
    config: Config.optional(),
    credentials: Credentials.optional(),
    ...ExpectedRevision,
  })
  .refine(({ config, credentials }) => config === undefined || credentials !== undefined, {
    error: 'a change of the config needs the credentials too, so that nobody sends kept ones to another host',
    path: ['credentials'],
  })
  .meta({ id: 'UpdateConnection' });

export const TestConnection = z
  .strictObject({
    repository: z
      .string()
      .max(2_000)
      .optional()
      .describe('For the kind `git`: the URL of a repository below that of the connection.'),
  })
  .meta({ id: 'TestConnection' });

export const RotateConnection = z
  .strictObject({ credentials: Credentials, ...ExpectedRevision })
  .meta({ id: 'RotateConnection' });
