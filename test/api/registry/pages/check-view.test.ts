import { expect, it } from 'vitest';
import { renderCheckState, renderDraftCheck } from '#api/registry/pages/check-view.ts';

const passed = {
  state: 'passed',
  tool: null,
  errors: [],
  warnings: [],
  not_checked: [],
  at: '2026-11-28T10:00:00Z',
} as const;

it('the view of a complete check says that it passed', () => {
  expect(String(renderCheckState({ check: { ...passed, errors: [], warnings: [], not_checked: [] } }))).toContain(
    '>Passed<',
  );
});

it('the view of a check that could not fetch a module says that it passed in part', () => {
  const check = { ...passed, errors: [], warnings: [], not_checked: ['the module "net" could not be had'] };
  expect(String(renderCheckState({ check }))).toContain('>Partially passed<');
});

it('the view of a partly checked draft says what a run needs, unlike a completely checked one', () => {
  const draft = { ...passed, valid: true, errors: [], warnings: [] };
  const whole = String(renderDraftCheck({ ...draft, not_checked: [] }));
  const part = String(renderDraftCheck({ ...draft, not_checked: ['Failed to query available provider packages'] }));
  expect(whole).toContain('This can be published.</strong>');
  expect(part).toContain('it could be checked only in part.</strong>');
  expect([whole, part].map((text) => text.includes('A run needs the rest too'))).toEqual([false, true]);
});
