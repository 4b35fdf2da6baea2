import { definePlugin } from '../../kernel/index.ts'

export const urlencoded = definePlugin({ name: 'urlencoded', setup(_ctx, _options: object = {}) {} })
