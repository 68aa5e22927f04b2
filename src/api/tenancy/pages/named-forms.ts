import type { FormField } from '#api/web/forms/fields/form-field.ts';

/** The fields of a thing with a name and a slug. @param current the thing, if it exists already */
export function nameFields(current?: { readonly name: string; readonly slug: string }): FormField[] {
  return [
    { name: 'name', label: 'Name', value: current?.name },
    {
      name: 'slug',
      label: 'Slug',
      value: current?.slug,
      isOptional: true,
      hint: current
        ? 'Used in addresses and commands.'
        : 'Used in addresses and commands, such as core-network. Leave empty to derive it from the name.',
    },
  ];
}
