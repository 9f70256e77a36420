"""Workflows, runs and phase prompts for any MCP client (extra `nightfoundry[mcp]`)."""
