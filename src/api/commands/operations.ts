import { z } from 'zod';
import { own } from '#api/identity/session-operations.ts';
import type { ReceiptAnswer } from '#api/pipeline/answers/receipt-answer.ts';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { readOwnReceipt } from '#domain/shared/commands/own-receipts.ts';
import type { RecordedReceipt } from '#domain/shared/commands/receipts.ts';

const ReceiptView = z
  .object({
    key: z.string(),
    operation: z.string().describe('The operation, such as `teams.delete`.'),
    status: z.int().describe('The status of the command’s answer, even if the answer was lost.'),
    resource_id: z.string().nullable(),
    location: z.string().nullable().describe('Where to read the resource; access is decided when it is read.'),
    revision: z.int().nullable().describe('The revision of the resource after the command.'),
    state: z.string().optional().describe('The state of the resource after the command, if the command answered one.'),
    eligibility_generation: z.int().optional().describe('That of a plugin resource after its restoration.'),
    audit_record_id: AnswerId,
    created_at: Time,
  })
  .meta({ id: 'Receipt' });

const OutcomeView = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('committed'), receipt: ReceiptView }),
    z.object({ kind: z.literal('not_observed') }),
  ])
  .meta({ id: 'CommandOutcome' });

export const getOutcome = read({
  id: 'commands.get_outcome',
  route: 'GET /api/v1/commands/outcome',
  summary: 'Read the outcome of your own command by its key',
  description:
    'Call this after a lost answer or a 503 with `outcome: unknown`, instead of sending the command again. `not_observed` ' +
    'means that no receipt was found at this moment; the command may still be committed.',
  responses: { 200: OutcomeView },
  access: own,
  idempotency: 'required',
  handle: async ({ em, principal, key }) => {
    const receipt = await readOwnReceipt<ReceiptAnswer>(em, principal, key);
    if (!receipt) return { kind: 'not_observed' } as const;
    return { kind: 'committed', receipt: viewReceipt(receipt) } as const;
  },
});

function viewReceipt({ key, operation, answer, resourceId, revision, ...rest }: RecordedReceipt<ReceiptAnswer>) {
  if (!answer) throw new Error(`the receipt of ${operation} does not say how to answer it`);
  return {
    key,
    operation,
    status: answer.status,
    resource_id: resourceId,
    location: answer.location,
    revision,
    ...answer.members,
    audit_record_id: rest.auditRecordId,
    created_at: rest.createdAt,
  };
}
