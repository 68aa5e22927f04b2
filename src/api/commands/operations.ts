import { z } from 'zod';
import { own } from '#api/identity/session-operations.ts';
import { read } from '#api/pipeline/operation.ts';
import type { ReceiptAnswer } from '#api/pipeline/receipt-answer.ts';
import { Time } from '#api/pipeline/schemas.ts';
import { type RecordedReceipt, readOwnReceipt } from '#domain/shared/commands/receipts.ts';

const ReceiptView = z.object({
  key: z.string(),
  operation: z.string().describe('What was asked for, such as `teams.delete`.'),
  status: z.int().describe('The status that the command answered, or would have.'),
  resource_id: z.string().nullable(),
  location: z.string().nullable().describe('Where to read the resource; who may is decided when it is read.'),
  revision: z.int().nullable().describe('Of the resource, as the command left it.'),
  audit_record_id: z.string(),
  created_at: Time,
});

const OutcomeView = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('committed'), receipt: ReceiptView }),
  z.object({ kind: z.literal('not_observed') }),
]);

export const getOutcome = read({
  id: 'commands.get_outcome',
  route: 'GET /api/v1/commands/outcome',
  summary: 'Read what became of a command of yours, by its key',
  description:
    'After a lost answer, or a 503 with `outcome: unknown`, ask this instead of sending the command again. `not_observed` ' +
    'says that no receipt was found at this moment; it is no proof that the command was, or will be, rolled back.',
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
    ...{ key, operation, status: answer.status, resource_id: resourceId, location: answer.location, revision },
    ...{ audit_record_id: rest.auditRecordId, created_at: rest.createdAt },
  };
}
