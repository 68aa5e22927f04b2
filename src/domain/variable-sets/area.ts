import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { Feature } from '#domain/shared/features/feature.ts';
import { VariableSetAttachmentSchema, VariableSetSchema, VariableSetVariableSchema } from './entity.ts';
import { variableSetKinds } from './ownership.ts';

export const entities = [VariableSetSchema, VariableSetVariableSchema, VariableSetAttachmentSchema] as const;
export const ownership = variableSetKinds;

export const features = {
  variable_sets: {
    title: 'Variable sets',
    operations: ['variable_sets', 'variable_set_variables', 'variable_set_attachments'],
    searched: ['variable_set'],
  },
} as const satisfies Record<string, Feature>;

export const searched = { variable_set: ownedCandidates({ table: 'variable_sets', installation: 'visible' }) };
