import { VariableSetAttachmentSchema, VariableSetSchema, VariableSetVariableSchema } from './entity.ts';
import { variableSetKinds } from './ownership.ts';

export const entities = [VariableSetSchema, VariableSetVariableSchema, VariableSetAttachmentSchema] as const;
export const ownership = variableSetKinds;
