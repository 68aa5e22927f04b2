import { z } from 'zod';
import { namesOneOwner, ownerFields } from '#api/pipeline/owned.ts';
import { publishAs } from '#api/pipeline/published.ts';
import { connectionKinds } from '#domain/connections/kinds/kinds.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName } from '#domain/tenancy/model.ts';
import { DescribedCreation, DescribedRotation, DescribedUpdate } from './described-kinds.ts';

/** The bodies of requests for connections. The schemas of each kind validate its config and credentials. */

const Settings = z.record(z.string(), z.unknown());

export const CreateConnection = publishAs(
  z
    .strictObject({
      name: ResourceName,
      kind: z.enum(connectionKinds),
      ...ownerFields,
      config: Settings.default({}),
      credentials: Settings.default({}),
    })
    .check(namesOneOwner),
  DescribedCreation,
);

export const UpdateConnection = publishAs(
  z
    .strictObject({
      name: ResourceName.optional(),
      config: Settings.optional(),
      credentials: Settings.optional(),
      ...ExpectedRevision,
    })
    .refine(({ config, credentials }) => config === undefined || credentials !== undefined, {
      error: 'a change of the config needs the credentials too, so that stored ones cannot be sent to another host',
      path: ['credentials'],
    }),
  DescribedUpdate,
);

export const TestConnection = z
  .strictObject({
    repository: z
      .string()
      .max(2_000)
      .optional()
      .describe('For the kind `git`: the URL of a repository below that of the connection.'),
  })
  .meta({ id: 'TestConnection' });

export const RotateConnection = publishAs(
  z.strictObject({ credentials: Settings, ...ExpectedRevision }),
  DescribedRotation,
);
