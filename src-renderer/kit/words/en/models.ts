export const models = {}
