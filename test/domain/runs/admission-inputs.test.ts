import { expect, it } from 'vitest';
import { inputsOfPhase, type RunInputs } from '#domain/runs/admission/inputs/inputs.ts';

const inputs: RunInputs = {
  variables: { size: 3 },
  sensitive: [],
  environment: [
    { name: 'OLD', value: 'a', sensitive: false },
    { name: 'READ', value: 'b', sensitive: true, phases: ['plan'] },
    { name: 'WRITE', value: 'c', sensitive: true, phases: ['apply'] },
  ],
};

it('a phase gets its own variables, and those that an earlier release stored without phases', () => {
  const namesOf = (phase: 'planning' | 'applying') => inputsOfPhase(inputs, phase).environment.map(({ name }) => name);
  expect(namesOf('planning')).toEqual(['OLD', 'READ']);
  expect(namesOf('applying')).toEqual(['OLD', 'WRITE']);
  expect(inputsOfPhase(inputs, 'planning').variables).toEqual({ size: 3 });
});

it('planning gets only its own value, and applying gets its own value and redacts both', () => {
  const variable = { name: 'KEY', value: 'write', planValue: 'read', sensitive: true };
  const given = (phase: 'planning' | 'applying', sensitive: boolean) =>
    inputsOfPhase({ ...inputs, environment: [{ ...variable, sensitive }] }, phase).environment;
  expect(given('planning', true)).toEqual([{ name: 'KEY', value: 'read', sensitive: true }]);
  expect(given('applying', true)).toEqual([{ name: 'KEY', value: 'write', sensitive: true, hidden: 'read' }]);
  expect(given('applying', false)).toEqual([{ name: 'KEY', value: 'write', sensitive: false }]);
});
