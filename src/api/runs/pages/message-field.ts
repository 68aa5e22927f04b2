import type { FormField } from '#api/web/forms/fields/form-field.ts';

/** The field for the message of a run that a form starts. */
export function messageField(value = ''): FormField {
  return {
    name: 'message',
    label: 'Message',
    kind: 'area',
    value,
    isOptional: true,
    hint: 'Shown to reviewers and in the history.',
  };
}
