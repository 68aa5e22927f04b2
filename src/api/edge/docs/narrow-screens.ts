/** Styles of the viewer for screens that are narrower than its rows: these wrap, and what cannot wrap scrolls by itself. */
export const narrowScreens = `@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag > a { flex: 1 1 0; min-width: 0; overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag > small { flex: 1 0 100%; min-width: 0; order: 1; padding: 0; overflow-wrap: anywhere; }
  .swagger-ui .opblock-body { overflow-x: auto; }
}
`;
