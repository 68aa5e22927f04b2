/** What people say of a project: columns of its entity, which they give and change by these names. */
export const projectFields = ['name', 'slug', 'description'] as const;
