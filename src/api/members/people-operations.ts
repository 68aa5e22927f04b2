import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { findPeople, maxFoundPeople } from '#domain/members/people-store.ts';
import { Id } from '#domain/shared/ids.ts';

const principalTypes = ['user', 'service_account'] as const;

const PersonView = z
  .object({
    type: z.enum(principalTypes),
    id: AnswerId,
    name: z.string(),
    email: z.string().nullable().describe('Null for a service account.'),
    enabled: z.boolean(),
  })
  .meta({ id: 'Person' });

const PeopleView = z
  .object({
    people: z.array(PersonView),
    cut: z.boolean().describe('Whether there are more people than these. A longer text finds fewer.'),
  })
  .meta({ id: 'People' });

export const find = readList({
  id: 'people.find',
  route: 'GET /api/v1/people',
  summary: 'Find people whom you know by their name or e-mail address',
  description:
    'Finds the members of your organizations, people and service accounts, and yourself; those who manage users find all users. No others are ' +
    `found, whether they exist or not: invite them by their e-mail address. At most ${maxFoundPeople} are answered, exact names and addresses first. ` +
    'Searches of one person and their service accounts run one after another.',
  query: z.strictObject({
    q: z
      .string()
      .trim()
      .min(1)
      .max(254)
      .optional()
      .describe(
        'A text in the name or the e-mail address, in any case, or the id or its first or last six or more digits. Without it, everybody is listed.',
      ),
    type: z.enum(principalTypes).optional(),
    organization_id: Id.optional().describe('Finds only members of this organization.'),
  }),
  responses: { 200: PeopleView },
  access: {
    anyOf: ['organization:read'],
    scope: 'platform',
    hidden: 'not_found',
    review: { resource: 'people', verb: 'list' },
  },
  owners: { organization: 'organization_id' },
  isCostly: () => true,
  handle: async ({ em, principal, query }) => {
    const wanted = { text: query.q, type: query.type, organizationId: query.organization_id };
    const { people, isCut } = await findPeople(em, principal, wanted);
    return { people, cut: isCut };
  },
});
