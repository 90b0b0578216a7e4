/** A notebook as a download: Jupyter's own type, never shown as a page. */
export const notebookResponse = (notebook: unknown, filename: string): Response =>
  new Response(JSON.stringify(notebook, null, 1), {
    headers: { 'content-type': 'application/x-ipynb+json', 'content-disposition': `attachment; filename="${filename}"` },
  })
