import { ownerField, toOwner } from '#api/tenancy/pages/owner-choice.ts';
import { bodyFields, readFields } from '#api/web/forms/body-fields.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { variableSetBody } from '../bodies.ts';
import { create, remove, update } from '../operations.ts';
import { type ShownSet, setForm, setPath, setsCrumb } from './labels.ts';
import { mayCreateSet } from './owners.ts';

const ownerHint =
  'Everybody who can see the owner can see the set. It can be attached to projects and environments of its owner. The owner cannot be changed later.';

function describedFields(set?: ShownSet): FormField[] {
  return bodyFields(variableSetBody, { name: { hint: 'Such as aws-common.' } }, { ...set });
}

const newForm = formPage(pages.newVariableSet, {
  read: async () => null,
  describe: async (_subject, visit) => ({
    title: 'New variable set',
    crumbs: [setsCrumb],
    fields: [await ownerField(visit, create, ownerHint), ...describedFields()],
    submit: 'Create variable set',
    cancel: pagePath(pages.variableSets),
    refusal: (await mayCreateSet(visit)).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const { owner: _, ...described } = typed;
    const body = { ...toBody(described), ...(await toOwner(visit, typed)) };
    return setPath(await visit.run(create, { body }), 'created');
  },
});

const editForm = setForm(pages.editVariableSet, 'update', {
  describe: (set) => ({
    title: `Edit ${set.name}`,
    lead: 'Existing runs keep the old name.',
    fields: [...describedFields(set), revisionField(set)],
    submit: 'Save changes',
  }),
  carryOut: async (set, typed, visit) => {
    const body = { ...toBody(typed), ...readFields(variableSetBody, typed) };
    await visit.run(update, { params: { id: set.id }, body });
    return setPath(set, 'saved');
  },
});

const deleteForm = setForm(pages.deleteVariableSet, 'delete', {
  describe: (set) => ({
    title: `Delete ${set.name}`,
    lead: `${describeContent(set)} New runs no longer get its variables. Existing runs keep theirs.`,
    submit: 'Delete variable set',
    tone: 'danger',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(remove, { params: { id } });
    return pagePath(pages.variableSets, {}, { done: 'deleted' });
  },
});

function describeContent({ variables, attachments }: ShownSet): string {
  const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;
  return `The set has ${count(variables, 'variable', 'variables')}, and is attached to ${count(attachments, 'place', 'places')}. Secret values cannot be restored.`;
}

/** The forms that make, rename and delete variable sets. */
export const variableSetForms = [newForm, editForm, deleteForm];
