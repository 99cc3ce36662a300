import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends bytes to a port on loopback, and returns everything the server sends until the connection closes. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  socket.write(bytes)
  await once(socket, 'close')
  return received
}
