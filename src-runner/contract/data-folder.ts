/** The folders that the runner makes in the data folder, besides that of the backups. */
export const RUNNER_FOLDERS = ['code', 'files', 'logs', 'mcp', 'skills', 'tunnel', 'whatsapp'] as const
