import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { Id } from '#domain/shared/ids.ts';
import { apiGroup, apiVersion, release } from '#domain/shared/installation/release.ts';

export const getIdentity = read({
  id: 'system.identity',
  route: 'GET /api/v1/system/identity',
  summary: 'Which installation this is',
  responses: {
    200: z.object({ service: z.string(), api_group: z.string(), installation_id: Id }).meta({ id: 'Installation' }),
  },
  access: { public: 'a client checks that it talks to the installation it means before it sends a credential' },
  handle: async ({ services }) => ({
    service: 'delivery-coordinator',
    api_group: apiGroup,
    installation_id: services.installation.id,
  }),
});

export const getVersion = read({
  id: 'system.version',
  route: 'GET /api/v1/system/version',
  summary: 'Which release and API version this is',
  responses: {
    200: z
      .object({ api_version: z.string(), api_versions: z.array(z.string()), release: z.string() })
      .meta({ id: 'ApiVersions' }),
  },
  access: { public: 'a client checks that it knows the API before it sends a credential' },
  handle: async () => ({ api_version: apiVersion, api_versions: [apiVersion], release }),
});
