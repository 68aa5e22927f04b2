import { describe, expect, it } from 'vitest';
import { unchosen } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderForm, renderFormField } from '#api/web/forms/form.ts';
import { listOpenChoices } from '#test/support/pages/forms/open-choices.ts';

const only = { value: 'a', label: 'Only' };
const other = { value: 'b', label: 'Other' };
const field = (given: Partial<FormField>): FormField => ({ name: 'place', label: 'Place', ...given });
const show = (given: Partial<FormField>) => String(renderFormField(field(given)));

describe('a field with a single choice', () => {
  it.each(['select', 'radio'] as const)('a field with a single choice of the kind %s has it selected', (kind) => {
    for (const choices of [[only], [unchosen, only]]) {
      const shown = show({ kind, choices });
      expect(shown).toMatch(/value="a" (id="[^"]*" )?(selected|checked)/);
      expect(shown).not.toContain('Choose…');
    }
  });

  it.each(['select', 'radio'] as const)(
    'a field with a single choice of the kind %s has nothing selected if it is optional',
    (kind) => {
      expect(show({ kind, choices: [only], isOptional: true })).not.toMatch(/value="a"[^>]*(selected|checked)/);
    },
  );

  it('a field with several choices, or with more than it lists, has nothing selected', () => {
    expect(show({ kind: 'select', choices: [unchosen, only, other] })).not.toMatch(/value="[ab]" selected/);
    expect(show({ kind: 'select', choices: [only], isCut: true })).toContain('value="" placeholder');
  });

  it('a field with a meaningful choice without a value keeps that choice selected', () => {
    expect(show({ kind: 'select', choices: [{ value: '', label: 'Latest' }, only] })).not.toMatch(/value="a" selected/);
  });
});

describe('the search for open choices in a page', () => {
  it('names a select and a group of radio buttons whose only choice is not selected', () => {
    const form = (content: string) => `<form method="post">${content}</form>`;
    const select = '<select name="x"><option value="">Choose…</option><option value="a">A</option></select>';
    const radio = '<input type="radio" name="y" value="a">';
    expect(listOpenChoices(form(select + radio))).toEqual(['x', 'y']);
    const fields = [field({ kind: 'select', choices: [unchosen, only] }), field({ kind: 'radio', choices: [only] })];
    expect(listOpenChoices(String(renderForm({ action: '/', fields, submit: 'Send' })))).toEqual([]);
  });
});
