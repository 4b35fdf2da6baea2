export type { VariantSchema } from './schema.ts'
export { type Serializer, serializer, type UseVariantOptions, type VariantTypes } from './serializer.ts'
