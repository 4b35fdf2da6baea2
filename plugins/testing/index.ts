export type { MockCookie, MockHeaders } from './content.ts'
export { type MockMethods, MockServer, type MockVerb, mockMethods } from './mock-server.ts'
export type { MockOptions, MockPart, MockQuery, MockValue } from './options.ts'
export { MockResponse } from './response.ts'
