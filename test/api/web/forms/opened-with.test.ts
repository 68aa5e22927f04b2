import { describe, expect, test } from 'vitest';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import type { LocalPath } from '#api/web/paths.ts';

const stale = { status: 409, fields: {}, others: [], code: 'stale_revision' } as const;
const merged = 'Fields that you did not change show the current values.';

const teams = ['Core', 'Network', 'Storage'].map((label, index) => ({ value: `id-${index}`, label }));
const team = (value: string): FormField => ({
  name: 'team',
  label: 'Team',
  kind: 'select',
  isCut: true,
  choices: teams,
  value,
});
const name = (value: string): FormField => ({ name: 'name', label: 'Name', value });
const topics = (...ticked: string[]): FormField => ({
  name: 'topics',
  label: 'Topics',
  kind: 'matrix',
  matrix: {
    heading: 'Topic',
    columns: [
      { name: 'mail', label: 'E-mail' },
      { name: 'chat', label: 'Chat' },
    ],
    rows: [{ name: 'runs', label: 'Runs', hint: '', ticked: new Set(ticked) }],
  },
});

function render(revision: number, fields: readonly FormField[], state: object = {}): string {
  const form = { action: '/' as LocalPath, fields: [...fields, revisionField({ revision })], submit: 'Save' };
  return String(renderForm({ ...form, ...state }));
}

/** What a browser sends of the hidden fields of a form. */
function hiddenOf(text: string): Record<string, string> {
  const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, field, value = '']) => [field, value.replaceAll('&quot;', '"')]));
}

describe('a form that is sent after another person saved', () => {
  test('a select that offers names shows the present value if the visitor did not change it', () => {
    const typed = { ...hiddenOf(render(1, [name('Ours'), team('id-0')])), name: 'Mine', team: 'Core' };
    const text = render(2, [name('Ours'), team('id-1')], { typed, problems: stale });
    expect(text).toMatch(/name="team"[^>]* value="Network"/);
    expect(text).toContain(merged);
    expect(text).not.toContain('<li><a href="#field-team">');
  });

  test('a select that offers names keeps the name that the visitor typed', () => {
    const typed = { ...hiddenOf(render(1, [team('id-0')])), team: 'Storage' };
    const text = render(2, [team('id-1')], { typed, problems: stale });
    expect(text).toMatch(/name="team"[^>]* value="Storage"/);
    expect(text).toContain('<span class="foreign">Network</span>');
  });

  test('a checkbox of a table shows the present value if the visitor did not change it', () => {
    const typed = { ...hiddenOf(render(1, [topics()])), 'runs--shown': 'yes', 'runs--mail': 'yes', 'runs--chat': '' };
    const text = render(2, [topics('chat')], { typed, problems: stale });
    expect(text).toMatch(/name="runs--mail"[^>]* checked/);
    expect(text).toMatch(/name="runs--chat"[^>]* checked/);
  });

  test('a form that was refused before for another reason keeps the values that it was opened with', () => {
    const problems = { status: 422, fields: { name: 'Is too long' }, others: [] };
    const opened = hiddenOf(render(1, [name('Ours'), team('id-0')]));
    const typed = { ...opened, name: 'Far too long', team: 'Core' };
    const refused = hiddenOf(render(2, [name('Ours'), team('id-1')], { typed, problems }));
    expect(refused).toMatchObject({ expected_revision: '1', opened_with: opened['opened_with'] });
    const again = render(2, [name('Ours'), team('id-1')], { typed: { ...typed, ...refused }, problems: stale });
    expect(again).toMatch(/name="team"[^>]* value="Network"/);
  });

  test('a form that was sent without its opening values says nothing about fields that were not changed', () => {
    const typed = { name: 'Mine', expected_revision: '1' };
    const text = render(2, [name('Theirs')], { typed, problems: stale });
    expect(text).toContain('Another person changed this');
    expect(text).not.toContain(merged);
  });

  test('the field opened_with is marked so that a browser still restores what was typed into the form', () => {
    expect(render(1, [name('Ours')])).toMatch(/<input type="hidden" name="opened_with" [^>]*data-unkept/);
  });

  test('a form without a revision has no field opened_with', () => {
    const form = { action: '/' as LocalPath, fields: [name('Ours')], submit: 'Save' };
    expect(String(renderForm(form))).not.toContain('opened_with');
  });
});
