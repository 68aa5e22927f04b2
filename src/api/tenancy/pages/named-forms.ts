import type { FormField } from '#api/web/forms/form.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Action } from '#domain/shared/actions.ts';
import { invalidField } from '#domain/shared/errors.ts';

/** The fields of a thing with a name and a slug. @param current the thing, if it exists already */
export function nameFields(current?: { readonly name: string; readonly slug: string }): FormField[] {
  return [
    { name: 'name', label: 'Name', value: current?.name, maxLength: 100 },
    {
      name: 'slug',
      label: 'Slug',
      value: current?.slug,
      maxLength: 63,
      isOptional: true,
      hint: current
        ? 'Stands in addresses and commands.'
        : 'Stands in addresses and commands, such as core-network. Made from the name if you leave it empty.',
    },
  ];
}

/** The revision that a form was opened for: what somebody else changed since then is not overwritten unseen. */
export function revisionField({ revision }: { readonly revision: number }): FormField {
  return { name: 'expected_revision', label: 'Revision', kind: 'hidden', value: String(revision) };
}

/** The body of an operation from what was typed: empty fields are left out, and the revision is a number. */
export function toBody({ expected_revision: revision, ...typed }: Typed): Record<string, unknown> {
  const filled = Object.entries(typed).filter(([name, value]) => name !== 'key' && value !== '');
  return { ...Object.fromEntries(filled), ...(revision !== undefined && { expected_revision: Number(revision) }) };
}

/** Where a tenant dies, people type its name. */
export function typedNameField(name: string): FormField {
  return { name: 'confirmation', label: `Type ${name} to confirm`, maxLength: 200 };
}

/** @throws Invalid if something else was typed */
export function requireTypedName({ confirmation }: Typed, name: string): void {
  if (confirmation?.trim() !== name.trim()) throw invalidField('confirmation', `must be ${name}`);
}

/** Why an action is not possible now; null if it is, or if the thing does not list it. */
export function refusalOf(actions: readonly Action[], name: string): string | null {
  return actions.find((action) => action.name === name)?.reason ?? null;
}
