import { expect, it } from 'vitest';
import { inputsOfPhase, type RunInputs } from '#domain/runs/admission/inputs.ts';

const inputs: RunInputs = {
  variables: { size: 3 },
  sensitive: [],
  environment: [
    { name: 'OLD', value: 'a', sensitive: false },
    { name: 'READ', value: 'b', sensitive: true, phases: ['plan'] },
    { name: 'WRITE', value: 'c', sensitive: true, phases: ['apply'] },
  ],
};

it('a phase gets the variables of its own, and those that an earlier release sealed without phases', () => {
  const namesOf = (phase: 'planning' | 'applying') => inputsOfPhase(inputs, phase).environment.map(({ name }) => name);
  expect(namesOf('planning')).toEqual(['OLD', 'READ']);
  expect(namesOf('applying')).toEqual(['OLD', 'WRITE']);
  expect(inputsOfPhase(inputs, 'planning').variables).toEqual({ size: 3 });
});
