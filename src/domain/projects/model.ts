/** The fields of a project that people can change: columns of its entity, with the same names in requests. */
export const projectFields = ['name', 'slug', 'description'] as const;
