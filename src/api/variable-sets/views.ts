import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { ownerView, viewOwner } from '#api/pipeline/owned.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { findVariableWarnings, VariableView, VariableWarnings, viewVariable } from '#api/variables/views.ts';
import type { Em } from '#database/database.ts';
import type { Attachment } from '#domain/variable-sets/attachments-store.ts';
import type { ListedVariableSet, VariableSetTarget } from '#domain/variable-sets/store.ts';
import type { ShownVariable } from '#domain/variables/store.ts';
import { variableOfSetActions, variableSetActions } from './actions.ts';

export const ListedVariableSetView = z
  .object({
    id: AnswerId,
    name: z.string(),
    description: z.string(),
    ...ownerView,
    variables: z.int().describe('How many variables it has.'),
    attachments: z.int().describe('To how many projects and environments it is attached.'),
    created_at: Time,
    revision: z.int(),
  })
  .meta({ id: 'ListedVariableSet' });

export const VariableSetView = z
  .object({ ...ListedVariableSetView.shape, actions: variableSetActions.view })
  .meta({ id: 'VariableSet' });

export function viewVariableSet(set: ListedVariableSet): z.input<typeof ListedVariableSetView> {
  const { id, name, description, variables, attachments, createdAt, revision } = set;
  return { id, name, description, ...viewOwner(set), variables, attachments, created_at: createdAt, revision };
}

/** A single variable of a set, with what the caller may do with it. */
export const VariableOfSetView = VariableView.extend({
  warnings: VariableWarnings,
  actions: variableOfSetActions.view,
}).meta({
  id: 'VariableOfSet',
});

export async function showVariableOfSet(
  em: Em,
  context: ActionContext,
  target: VariableSetTarget,
  variable: ShownVariable,
) {
  return {
    ...viewVariable(variable),
    warnings: await findVariableWarnings(em, context.principal, target, variable),
    actions: variableOfSetActions.describe(context, target),
  };
}

export const AttachmentsView = z
  .object({
    attachments: z.array(
      z.object({
        type: z.enum(['project', 'environment']),
        id: AnswerId,
        name: z.string(),
        effective: z
          .boolean()
          .describe('False after a transfer to another owner: runs get nothing from the set there any more.'),
      }),
    ),
    hidden: z.int().describe('How many more there are, to places that you may not read.'),
    revision: z.int().describe('Of the set.'),
    actions: variableSetActions.view,
  })
  .meta({ id: 'VariableSetAttachments' });

export function viewAttachments(
  { shown, hidden }: { readonly shown: readonly Attachment[]; readonly hidden: number },
  revision: number,
  actions: z.input<typeof AttachmentsView>['actions'],
): z.input<typeof AttachmentsView> {
  return {
    attachments: shown.map(({ kind, id, name, isEffective }) => ({
      type: kind,
      id,
      name,
      effective: isEffective,
    })),
    hidden,
    revision,
    actions,
  };
}
