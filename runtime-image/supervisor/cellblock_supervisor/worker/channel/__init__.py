"""What processes of the kernel send and ask over the sockets that they inherit: messages, texts, terminals."""
