// What every server has of the test kit: `server.inject`. Importing the kit itself announces a server, which a script may not have.
export { type MockMethods, MockServer, mockMethods } from './mock-server.ts'
