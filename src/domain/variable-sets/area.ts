import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import { VariableSetAttachmentSchema, VariableSetSchema, VariableSetVariableSchema } from './entity.ts';
import { variableSetsFeature } from './feature.ts';
import { variableSetKinds } from './ownership.ts';

export const entities = [VariableSetSchema, VariableSetVariableSchema, VariableSetAttachmentSchema] as const;
export const ownership = variableSetKinds;
export const features = { variable_sets: variableSetsFeature };
export const searched = { variable_set: ownedCandidates({ table: 'variable_sets', installation: 'visible' }) };
