import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { Time } from '#api/pipeline/schemas.ts';
import { sealingKeyOf } from '#domain/audit/chain/seal.ts';
import { type ChainProblem, problemKinds, type Verification, verifyChain } from '#domain/audit/chain/verification.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { readActions } from './catalogue.ts';

const ProblemView = z
  .object({
    kind: z.enum(problemKinds),
    position: z.int().describe('The seal that shows it.'),
    from: Time.nullable().describe('The records lie after this time; null: from the first record on.'),
    until: Time.nullable(),
    expected: z
      .int()
      .nullable()
      .describe('How many records were sealed. `changes_hidden`: 0, as no change may be marked as a read.'),
    found: z.int().nullable().describe('How many there are. `changes_hidden`: how many changes are marked as reads.'),
  })
  .meta({ id: 'AuditChainProblem' });

export const VerificationView = z
  .object({
    valid: z.boolean().describe('Nothing in this part differs from what was sealed.'),
    seals: z.int().describe('The seals of this part.'),
    records: z.int().describe('The records of this part that are as they were sealed.'),
    removed: z.int().describe('Sealed records that the service has removed, because their retention time was over.'),
    problems: z.array(ProblemView),
    head: z
      .object({ position: z.int(), seal: z.string(), until: Time })
      .nullable()
      .describe(
        'The newest seal. Keep it elsewhere, and send its position and seal later, to see that nothing was cut off.',
      ),
    unsealed: z
      .object({ records: z.int(), since: Time.nullable() })
      .describe('Newer records that no seal covers yet, and the time of the first. A worker seals every half minute.'),
    next_after: z.int().nullable().describe('Send it as `after` to verify the next part; null: this was the last one.'),
  })
  .meta({ id: 'AuditVerification' });

export const verify = read({
  id: 'audit_records.verify',
  route: 'GET /api/v1/audit/verify',
  summary: 'Compare the audit with the chain of its seals',
  description:
    'A worker seals new records every half minute: each seal is a keyed digest over up to 10,000 records and the seal before. ' +
    'Records that were changed, added or removed behind the service’s back do not fit their seal. `changes_hidden` names changes that somebody marked as reads, so that ' +
    'the list of changes does not show them. One request verifies 20 seals.',
  query: z
    .strictObject({
      after: wholeNumber({ min: 0 }).default(0).describe('Verify the seals behind this one.'),
      position: wholeNumber({ min: 1 }).optional().describe('The position of a seal that you have kept.'),
      seal: z
        .string()
        .regex(/^[0-9a-f]{64}$/i, { error: 'expected the 64 hexadecimal digits of a seal' })
        .optional()
        .describe('The seal that you have kept.'),
    })
    .refine(({ position, seal }) => (position === undefined) === (seal === undefined), {
      error: 'position and seal belong together: send both or neither',
    }),
  responses: { 200: VerificationView },
  access: {
    anyOf: ['settings.manage'],
    scope: 'platform',
    hidden: 'not_found',
    review: { resource: 'audit_records', verb: 'verify' },
  },
  audit: 'audit_records.verified',
  isCostly: () => true,
  handle: async ({ em, query, services, operations }) => {
    const { after, position, seal } = query;
    const kept = position === undefined || seal === undefined ? null : { position, seal };
    const by = { key: sealingKeyOf(services.installation.bindingKey), readActions: readActions(operations) };
    return viewVerification(await verifyChain(em, by, after, kept));
  },
});

function viewVerification({ nextAfter, problems, ...verification }: Verification) {
  const shown: ChainProblem[] = [...problems];
  return { ...verification, valid: shown.length === 0, problems: shown, next_after: nextAfter };
}
