import { expect, it } from 'vitest';
import { renderCheckState } from '#api/registry/pages/check-view.ts';

const passed = {
  state: 'passed',
  tool: null,
  errors: [],
  warnings: [],
  not_checked: [],
  at: '2026-11-28T10:00:00Z',
} as const;

it('a check without anything left out has passed', () => {
  expect(String(renderCheckState({ check: { ...passed, errors: [], warnings: [], not_checked: [] } }))).toContain(
    '>Passed<',
  );
});

it('a check that could not fetch a module has passed in part alone', () => {
  const check = { ...passed, errors: [], warnings: [], not_checked: ['the module "net" could not be had'] };
  expect(String(renderCheckState({ check }))).toContain('>Partially passed<');
});
